"""The one exception of the project: an input that cannot be used, said in one line."""


class InputError(ValueError):
    """An input that cannot be used.

    The message says what was received, where, what is allowed, and the remedy.
    The command line prints it without a traceback and exits with status 2.
    """
