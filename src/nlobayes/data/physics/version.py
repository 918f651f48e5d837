"""Version of the embedded engine, which changes whenever its numbers change."""

ENGINE_VERSION = "1"
