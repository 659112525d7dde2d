"""What the app does with tables, in processes of their own: requests come in as lines of JSON, answers go out so."""
