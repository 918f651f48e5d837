"""A surrogate in the browser and over HTTP; needs the `serve` extra."""
