"""The part of the app that works on tables, in processes of its own: requests and answers are lines of JSON."""
