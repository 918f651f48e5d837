"""Version of the embedded engine, which changes when its numbers change by more than rounding."""

ENGINE_VERSION = "1"
