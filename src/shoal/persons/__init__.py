"""Groups of persons with several records: every one keeps k and the requirements by the persons in it."""

from shoal.persons.grouping import group_persons, leave_out

__all__ = ["group_persons", "leave_out"]
