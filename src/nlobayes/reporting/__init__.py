"""Tables and words on finished runs: for the terminal, the report and Markdown."""
