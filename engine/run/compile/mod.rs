//! From plan text to a plan that may run: every check, all findings at once.
