"""The version of the embedded engine: it changes whenever its numbers do."""

ENGINE_VERSION = "1"
