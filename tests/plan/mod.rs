//! The plan room: from text to plan, and every finding on the way.

mod schemas;
