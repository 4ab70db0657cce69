//! Files stay small enough to be read in one go.

use super::{Finding, Source, Weight};

/// Above this a file is mentioned.
const WARN_ABOVE: usize = 400;
/// Above this it must be cut.
const FAIL_ABOVE: usize = 800;

/// Long Rust files.
pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    let long = |source: &&Source| source.code.is_some() && source.text.lines().count() > WARN_ABOVE;
    let finding = |source: &Source| {
        let lines = source.text.lines().count();
        let weight = if lines > FAIL_ABOVE { Weight::Fail } else { Weight::Warn };
        let what = format!("{lines} lines; aim under {WARN_ABOVE}, never above {FAIL_ABOVE}");
        Finding { rule: "size", weight, file: source.path.clone(), line: lines, what }
    };
    sources.iter().filter(long).map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_named() {
        for (path, lines, weight) in [
            ("a.rs", 400, None),
            ("a.rs", 401, Some(Weight::Warn)),
            ("a.rs", 800, Some(Weight::Warn)),
            ("a.rs", 801, Some(Weight::Fail)),
            ("a.md", 5000, None),
        ] {
            let found = check(&[Source::new(path, "x\n".repeat(lines))]);
            assert_eq!(found.first().map(|f| f.weight), weight, "{path} {lines}");
        }
    }
}
