//! Documents: places lead back to what was written.

use super::*;

fn overrides(flags: &[&str]) -> Vec<Override> {
    flags.iter().map(|flag| flag.parse().unwrap()).collect()
}

/// What is said when `key` is read as a number.
fn said(text: &str, flags: &[&str]) -> String {
    let overrides = overrides(flags);
    let mut document = Document::parse("f.toml", text, &overrides).unwrap();
    document.root.require::<u32>("key", &mut document.problems);
    document.root.finish(&mut document.problems);
    document.problems.to_string()
}

#[test]
fn lines_are_counted_whatever_ends_them_and_whatever_letters_they_hold() {
    let expected = "`key`: invalid type: boolean `true`, expected a whole number from 0 to 4294967295";
    for text in ["# ü\n\nkey = true", "# ü\r\n\r\nkey = true\r\n"] {
        assert_eq!(said(text, &[]), format!("f.toml:3: {expected}"));
    }
}

#[test]
fn a_problem_shows_its_sentence_and_not_the_files_text() {
    assert_eq!(said("key = 1\nkeys = 2", &[]), "f.toml:2: `keys`: there is no such key; did you mean `key`?");
}

#[test]
fn a_flag_hides_the_files_mistake_and_the_last_flag_wins() {
    assert_eq!(said("key = true", &["key=1"]), "");
    assert_eq!(said("key = 1", &["key=true", "key=2"]), "");
    assert!(said("key = 1", &["key=2", "key=x"]).starts_with("--set key=x: `key`: "));
}

#[test]
fn keys_inside_a_flags_value_lead_back_to_the_flag() {
    let flags = overrides(&["a=1", "rows=[{n=1}, {n=2, m=3}]"]);
    let mut document = Document::parse("f.toml", "", &flags).unwrap();
    document.root.take::<u32>("a", &mut document.problems);
    for mut row in document.root.tables("rows", &mut document.problems) {
        row.take::<u32>("n", &mut document.problems);
        row.finish(&mut document.problems);
    }
    assert_eq!(
        document.problems.to_string(),
        "--set rows=[{n=1}, {n=2, m=3}]: `rows[1].m`: there is no such key; did you mean `n`?"
    );
}

#[test]
fn a_value_of_a_key_that_was_not_written_is_placed_at_the_table_above_it() {
    let mut document = Document::parse("f.toml", "\n[server]\n", &[]).unwrap();
    document.problems.note("server.buffer", "too small");
    document.problems.note("client.timeout", "too short");
    assert_eq!(
        document.problems.to_string(),
        "f.toml:2: `server.buffer`: too small\nf.toml: `client.timeout`: too short"
    );
}

#[test]
fn text_that_is_not_toml_is_refused_at_its_line() {
    let said = Document::parse("f.toml", "a = 1\nb = [1,\n", &[]).unwrap_err();
    assert_eq!(said.to_string(), "f.toml:2: not TOML: unclosed array, expected `]`");
}
