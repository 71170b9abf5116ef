//! The real window, under Xvfb, driven as a person would.
