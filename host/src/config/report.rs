//! What a configuration that cannot be used says: every mistake at once, each with its
//! place, its reason and its remedy. Knows nothing of what any key means.

use std::fmt;

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file's path, or `environment` or `command line`.
    pub file: String,
    /// Counted from 1; none outside files and for what is missing altogether.
    pub line: Option<usize>,
    /// The dotted key, e.g. `http.listen`; empty when the file as a whole is at fault.
    pub key: String,
    /// What is wrong.
    pub reason: String,
    /// What to do about it.
    pub remedy: String,
}

/// Why a value was refused, before anybody knows where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub(crate) reason: String,
    pub(crate) remedy: String,
}

impl Complaint {
    pub(crate) fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { reason: reason.into(), remedy: remedy.into() }
    }
}

/// All mistakes of one configuration. Its text is the whole report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    problems: Vec<Problem>,
}

impl Error {
    /// Orders the problems by file, in the order the files were read, and by line.
    #[must_use]
    pub fn new(problems: Vec<Problem>) -> Self {
        let mut files: Vec<String> = Vec::new();
        for problem in &problems {
            if !files.contains(&problem.file) {
                files.push(problem.file.clone());
            }
        }
        let mut problems = problems;
        problems.sort_by_key(|p| (files.iter().position(|f| *f == p.file), p.line));
        Self { problems }
    }

    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The one file at fault, if it is one.
    fn subject(&self) -> &str {
        match self.problems.split_first() {
            Some((first, rest)) if rest.iter().all(|p| p.file == first.file) => &first.file,
            Some(_) | None => "the configuration",
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.problems.len();
        let noun = if count == 1 { "problem" } else { "problems" };
        write!(f, "{count} {noun} in {}", self.subject())?;
        for (index, problem) in self.problems.iter().enumerate() {
            write!(f, "\n\n{}. {problem}", index + 1)?;
        }
        Ok(())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, "\n   {}\n   fix: {}", self.reason, self.remedy)
    }
}
