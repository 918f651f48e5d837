"""What is exchanged with programs of users: families of `inputs` and of `outputs`."""
