use std::fs;
use std::path::Path;
use std::time::Duration;

use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

use super::error::ResultError;
use super::fixture::Fixture;
use super::manifest::{Manifest, ScenarioText};
use super::reader::ResultFolder;
use super::rows::{CallRow, DesyncRow, FaultRow, RestartRow, RunRow};
use super::tables::Row;
use super::writer::ResultWriter;
use crate::mcp::client::settings::Arm;
use crate::observe::measure::Measures;

fn entries(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn read_all<R: Row>(folder: &ResultFolder) -> Vec<R> {
    folder.rows().unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn what_is_written_is_read_again() {
    let parent = tempfile::tempdir().unwrap();
    let fixture = Fixture::default();
    let folder = ResultFolder::open(&fixture.write(parent.path(), "incident")).unwrap();
    let runs: Vec<_> =
        (0..6).flat_map(|seed| [fixture.run(seed, Arm::Trusting), fixture.run(seed, Arm::Validating)]).collect();
    assert_eq!(read_all::<RunRow>(&folder), runs.iter().map(|r| r.run.clone()).collect::<Vec<_>>());
    let flat = |r: &Vec<super::run::RunResult>| r.iter().flat_map(|r| r.calls.clone()).collect::<Vec<_>>();
    assert_eq!(read_all::<CallRow>(&folder), flat(&runs));
    assert_eq!(read_all::<DesyncRow>(&folder), runs.iter().flat_map(|r| r.desyncs.clone()).collect::<Vec<_>>());
    assert_eq!(read_all::<RestartRow>(&folder), runs.iter().flat_map(|r| r.restarts.clone()).collect::<Vec<_>>());
    assert_eq!(read_all::<FaultRow>(&folder), runs.iter().flat_map(|r| r.faults.clone()).collect::<Vec<_>>());
    assert_eq!(folder.manifest().runs, 12);
    // printf '%s\n' trusting-0 validating-0 trusting-1 … | sha256sum
    assert_eq!(folder.manifest().digest, "eefa7ef3730a5c342fc5356285eb2644d813aedc9db568c76a918f45d62e8d19",);
}

#[test]
fn a_folder_holds_every_file_and_the_parent_nothing_else() {
    let parent = tempfile::tempdir().unwrap();
    let dir = Fixture::default().write(parent.path(), "incident");
    assert_eq!(entries(parent.path()), ["incident"]);
    insta::assert_snapshot!(entries(&dir).join("\n"));
    assert_eq!(entries(&dir.join("schedules")), (0..6).map(|s| format!("0-{s}.toml")).collect::<Vec<_>>());
}

#[test]
fn the_same_runs_give_the_same_bytes_but_for_the_timing() {
    let parent = tempfile::tempdir().unwrap();
    let a = Fixture::default().write(parent.path(), "a");
    let b = Fixture::default().write(parent.path(), "b");
    for name in entries(&a).iter().filter(|n| *n != "timing.json" && *n != "schedules") {
        assert_eq!(fs::read(a.join(name)).unwrap(), fs::read(b.join(name)).unwrap(), "{name}");
    }
}

#[test]
fn a_table_without_rows_has_its_header() {
    let parent = tempfile::tempdir().unwrap();
    let quiet = Fixture { recycle_every: 0, ..Fixture::default() };
    let dir = quiet.write(parent.path(), "quiet");
    assert_eq!(
        fs::read_to_string(dir.join("desyncs.csv")).unwrap(),
        "point,seed,arm,client,signature,fault,lost_at_s,exposed_at_s,detected_at_s,detected_by\n"
    );
    assert!(read_all::<DesyncRow>(&ResultFolder::open(&dir).unwrap()).is_empty());
}

/// The columns are written by hand beside the rows; serde would name them so.
#[test]
fn the_columns_are_the_rows_fields() {
    fn columns<R: Row>(row: &R) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.serialize(row).unwrap();
        String::from_utf8(writer.into_inner().unwrap()).unwrap().lines().next().unwrap().to_owned()
    }
    let run = Fixture::default().run(0, Arm::Validating);
    assert_eq!(columns(&run.run), RunRow::COLUMNS.join(","));
    assert_eq!(columns(&run.calls[0]), CallRow::COLUMNS.join(","));
    assert_eq!(columns(&run.desyncs[0]), DesyncRow::COLUMNS.join(","));
    assert_eq!(columns(&run.restarts[0]), RestartRow::COLUMNS.join(","));
    assert_eq!(columns(&run.faults[0]), FaultRow::COLUMNS.join(","));
}

#[test]
fn a_histogram_log_holds_the_histogram_over_all_runs() {
    let parent = tempfile::tempdir().unwrap();
    let fixture = Fixture::default();
    let dir = fixture.write(parent.path(), "incident");
    let mut expected = Measures::default();
    (0..6).for_each(|seed| expected.add(&fixture.run(seed, Arm::Validating).measures));
    let log = fs::read(dir.join("validating.detection.hlog")).unwrap();
    let interval = IntervalLogIterator::new(&log)
        .find_map(|entry| match entry.unwrap() {
            LogEntry::Interval(interval) => Some(interval),
            _ => None,
        })
        .unwrap();
    assert_eq!(interval.tag().unwrap().as_str(), "detection");
    let bytes = base64(interval.encoded_histogram());
    let read: hdrhistogram::Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
    assert_eq!(read, expected.detection_from_exposure);
    assert!(!read.is_empty());
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Vec<u32> = text.bytes().filter_map(|b| DIGITS.iter().position(|d| *d == b)).map(|d| d as u32).collect();
    let bytes = digits.chunks(4).flat_map(|chunk| {
        let word = chunk.iter().enumerate().fold(0, |word, (i, digit)| word | digit << (18 - 6 * i));
        word.to_be_bytes()[1..chunk.len()].to_vec()
    });
    bytes.collect()
}

#[test]
fn a_writer_that_is_dropped_leaves_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let fixture = Fixture::default();
    let mut writer = ResultWriter::create(&parent.path().join("incident"), fixture.manifest()).unwrap();
    writer.push(&fixture.run(0, Arm::Trusting)).unwrap();
    assert_eq!(entries(parent.path()).len(), 1);
    drop(writer);
    assert!(entries(parent.path()).is_empty());
}

#[test]
fn an_unfinished_writer_leaves_the_earlier_result_as_it_was() {
    let parent = tempfile::tempdir().unwrap();
    let fixture = Fixture::default();
    let dir = fixture.write(parent.path(), "incident");
    let before = fs::read(dir.join("runs.csv")).unwrap();
    let writer = ResultWriter::create(&dir, fixture.manifest()).unwrap();
    drop(writer.finish(Duration::ZERO, 1).unwrap());
    assert_eq!(fs::read(dir.join("runs.csv")).unwrap(), before);
    assert_eq!(entries(parent.path()), ["incident"]);
}

#[test]
fn an_earlier_result_is_replaced_whole() {
    let parent = tempfile::tempdir().unwrap();
    let dir = Fixture::default().write(parent.path(), "incident");
    fs::write(dir.join("report.html"), "of the earlier result").unwrap();
    Fixture { seeds: 1, ..Fixture::default() }.write(parent.path(), "incident");
    assert_eq!(ResultFolder::open(&dir).unwrap().manifest().runs, 2);
    assert!(!dir.join("report.html").exists());
    assert_eq!(entries(parent.path()), ["incident"]);
}

#[test]
fn an_empty_folder_and_a_missing_parent_are_accepted() {
    let parent = tempfile::tempdir().unwrap();
    fs::create_dir(parent.path().join("empty")).unwrap();
    Fixture::default().write(parent.path(), "empty");
    Fixture::default().write(&parent.path().join("new"), "incident");
    assert_eq!(entries(parent.path()), ["empty", "new"]);
}

#[test]
fn what_is_no_result_folder_is_refused_and_kept() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("home");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("thesis.tex"), "years").unwrap();
    fs::write(parent.path().join("file"), "text").unwrap();
    for taken in [dir.clone(), parent.path().join("file")] {
        let error = ResultWriter::create(&taken, Fixture::default().manifest()).err().unwrap();
        assert!(matches!(&error, ResultError::Foreign { path } if *path == taken), "{error}");
        assert!(error.to_string().contains("nothing in it was touched"));
    }
    assert_eq!(fs::read_to_string(dir.join("thesis.tex")).unwrap(), "years");
    assert_eq!(entries(parent.path()), ["file", "home"]);
}

#[test]
fn a_folder_that_fills_while_the_runs_go_on_is_refused_at_the_commit() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("incident");
    let writer = ResultWriter::create(&dir, Fixture::default().manifest()).unwrap();
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("notes"), "mine").unwrap();
    let error = writer.finish(Duration::ZERO, 1).unwrap().commit().unwrap_err();
    assert!(matches!(error, ResultError::Foreign { .. }), "{error}");
    assert_eq!(entries(&dir), ["notes"]);
    assert_eq!(entries(parent.path()), ["incident"]);
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    // Below a file no folder can be made, whoever asks.
    let parent = tempfile::tempdir().unwrap();
    fs::write(parent.path().join("file"), "").unwrap();
    let dir = parent.path().join("file/incident");
    let error = ResultWriter::create(&dir, Fixture::default().manifest()).err().unwrap();
    assert!(error.to_string().starts_with(&format!("cannot write {}", parent.path().display())), "{error}");
}

#[test]
fn a_full_disk_is_named_with_what_to_do() {
    let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
    let text = ResultError::write(Path::new("/results/calls.csv"), full).to_string();
    assert_eq!(
        text,
        "cannot write /results/calls.csv: no storage space (free some space or give another folder; \
         nothing was left under the final name)"
    );
}

/// Each case damages one file of a good folder; the sentence names the file and the place.
#[test]
fn damaged_files_are_refused_with_the_place() {
    let replace = |from: &'static str, to: &'static str| {
        move |text: String| {
            assert!(text.contains(from), "{from} is not in the file");
            text.replacen(from, to, 1)
        }
    };
    type Damage = Box<dyn Fn(String) -> String>;
    let cases: Vec<(&str, Damage)> = vec![
        ("manifest.json", Box::new(replace("\"format\": 1", "\"format\": 7"))),
        ("manifest.json", Box::new(replace("\"trusting\"", "\"gullible\""))),
        ("manifest.json", Box::new(replace("\"interrupted\"", "\"colour\""))),
        ("manifest.json", Box::new(|text| text[..text.len() / 2].to_owned())),
        ("runs.csv", Box::new(replace("scenario,point", "scenario,spot"))),
        ("runs.csv", Box::new(replace("incident,0,0,trusting,72", "incident,0,0,trusting,many"))),
        ("calls.csv", Box::new(|text| text[..text.len() - 20].to_owned())),
        ("calls.csv", Box::new(replace("completed,0.000000", "completed"))),
        ("faults.csv", Box::new(replace(",true", ",perhaps"))),
        ("restarts.csv", Box::new(|_| String::new())),
    ];
    let parent = tempfile::tempdir().unwrap();
    let sentences: Vec<String> = cases
        .into_iter()
        .map(|(file, damage)| {
            let dir = Fixture::default().write(parent.path(), "incident");
            let path = dir.join(file);
            fs::write(&path, damage(fs::read_to_string(&path).unwrap())).unwrap();
            sentence(&dir).replace(&parent.path().display().to_string(), "")
        })
        .collect();
    insta::assert_snapshot!(sentences.join("\n"));
}

#[test]
fn missing_files_are_named() {
    let parent = tempfile::tempdir().unwrap();
    let sentences: Vec<String> = ["manifest.json", "runs.csv", "faults.csv"]
        .into_iter()
        .map(|file| {
            let dir = Fixture::default().write(parent.path(), "incident");
            fs::remove_file(dir.join(file)).unwrap();
            let text = sentence(&dir);
            fs::remove_dir_all(dir).unwrap();
            text.replace(&parent.path().display().to_string(), "")
        })
        .collect();
    insta::assert_snapshot!(sentences.join("\n"));
    assert!(sentence(&parent.path().join("nowhere")).contains("nowhere"));
}

/// What reading the whole folder fails with.
fn sentence(dir: &Path) -> String {
    fn drain<R: Row>(folder: &ResultFolder) -> Result<(), ResultError> {
        folder.rows::<R>()?.try_for_each(|row| row.map(drop))
    }
    let read = || {
        let folder = ResultFolder::open(dir)?;
        drain::<RunRow>(&folder)?;
        drain::<CallRow>(&folder)?;
        drain::<DesyncRow>(&folder)?;
        drain::<RestartRow>(&folder)?;
        drain::<FaultRow>(&folder)
    };
    read().err().map_or_else(|| "nothing was wrong".to_owned(), |error: ResultError| error.to_string())
}

#[test]
fn a_manifest_knows_its_commands_and_settings() {
    let mut experiment = Fixture::default().manifest().experiment;
    assert_eq!(experiment.command(), "desync-sim run incident --seeds 0..6");
    assert_eq!(experiment.setting("client.call_timeout_s"), Some(toml::Value::Integer(60)));
    let words = [
        "run",
        "my sims/incident.toml",
        "--set",
        "client.call_timeout_s=5",
        "--seeds",
        "0..6",
        "--set",
        "server.x='a b'",
    ];
    experiment.arguments = words.map(str::to_owned).to_vec();
    assert_eq!(
        experiment.command(),
        r"desync-sim run 'my sims/incident.toml' --set client.call_timeout_s=5 --set 'server.x='\''a b'\''' --seeds 0..6"
    );
    assert!(experiment.command_of_seed(4).ends_with(" --seeds 4..5"));
    assert_eq!(
        experiment.replay_command(4, Arm::Trusting),
        r"desync-sim replay 'my sims/incident.toml' --set client.call_timeout_s=5 --set 'server.x='\''a b'\''' --seed 4 --arm trusting"
    );
    assert_eq!(experiment.setting("client.call_timeout_s"), Some(toml::Value::Integer(5)));
    assert_eq!(experiment.setting("client.nothing"), None);
    experiment.server_profile = Some(ScenarioText::new("rmcp", "name = \"rmcp\"\n[server]\nbuffer_events = 16"));
    assert_eq!(experiment.setting("server.buffer_events"), Some(toml::Value::Integer(16)), "what the profile says");
    assert_eq!(experiment.setting("name"), Some("incident".into()), "of its servers only");
}

#[test]
fn an_interrupted_sweep_says_so() {
    let parent = tempfile::tempdir().unwrap();
    let fixture = Fixture::default();
    let mut writer = ResultWriter::create(&parent.path().join("incident"), fixture.manifest()).unwrap();
    writer.push(&fixture.run(0, Arm::Trusting)).unwrap();
    writer.mark_interrupted();
    let dir = writer.finish(Duration::from_secs(1), 1).unwrap().commit().unwrap();
    let Manifest { runs, interrupted, .. } = ResultFolder::open(&dir).unwrap().manifest().clone();
    assert_eq!((runs, interrupted), (1, true));
}
