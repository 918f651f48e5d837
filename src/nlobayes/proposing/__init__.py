"""Points to compute next: what is requested of them, and the choice by a surrogate."""
