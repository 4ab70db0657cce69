//! Words as a shell reads them back.

/// Quotes a word for a POSIX shell, only when it needs it.
pub(crate) fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_what_was_meant() {
        for word in ["plain", "", "two words", "it's", "{\"x\":1}", "$HOME `id` \\ \n !", "点击"] {
            let out =
                std::process::Command::new("sh").arg("-c").arg(format!("printf %s {}", quote(word))).output();
            assert_eq!(String::from_utf8(out.unwrap().stdout).unwrap(), word);
        }
        assert_eq!(quote("plain"), "plain");
    }
}
