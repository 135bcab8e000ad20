//! Other tools' logs and tables to trials, streaming; one file a format.
//!
//! Text in, values out: it opens no file and does not know where trials are kept. What a log does not tell stays
//! unknown, and what could not be read becomes a note with its lines, never a number.
