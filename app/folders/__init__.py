"""The indexed folders of a person: their names, whether they can be reached, and how to forget one."""
