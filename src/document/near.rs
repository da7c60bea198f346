//! Suggestions for names that were probably mistyped.

/// The candidate nearest to `name`, where one is near enough to be what was meant.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= 1 + candidate.chars().count().max(name.chars().count()) / 5)
        .min()
        .map(|(_, candidate)| candidate)
}

/// `did you mean X?` where a candidate is near, otherwise all of them.
pub fn did_you_mean<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    match nearest(name, candidates.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => match candidates.as_slice() {
            [] => "none is expected".to_owned(),
            [only] => format!("expected `{only}`"),
            many => format!("expected one of `{}`", many.join("`, `")),
        },
    }
}

/// The number of insertions, deletions and replacements of one letter that turn `a` into `b` (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_single_letters() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("retry_ms", "retry_s", 1),
            ("same", "same", 0),
        ] {
            assert_eq!(distance(a, b), expected, "{a:?} {b:?}");
        }
    }

    #[test]
    fn only_a_near_name_is_suggested() {
        let names = ["incident", "quiet", "opaque-ids"];
        assert_eq!(nearest("incidnet", names), Some("incident"));
        assert_eq!(nearest("opaque_ids", names), Some("opaque-ids"));
        assert_eq!(nearest("production", names), None);
        assert_eq!(did_you_mean("production", names), "expected one of `incident`, `quiet`, `opaque-ids`");
    }
}
