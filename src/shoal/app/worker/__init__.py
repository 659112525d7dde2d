"""The part of the app that works on tables, in separate processes. Requests and answers are lines of JSON."""
