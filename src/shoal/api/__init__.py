"""What the package offers, a file for each verb, and what the verbs return."""
