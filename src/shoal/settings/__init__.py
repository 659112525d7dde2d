"""Everything that decides a release besides the table: checked, saved and loaded. It must not know any table."""
