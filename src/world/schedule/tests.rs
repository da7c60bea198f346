//! Schedules: what is generated from rates, and what is read from files.

use proptest::prelude::*;

use super::settings::*;
use super::*;
use crate::world::draw::{Draws, Span};
use crate::world::fault::{DisconnectMode, Keep, RecycleTo, StallLink};

const EXTENT: Extent = Extent { clients: 8, servers: 2, horizon: Seconds::new(3600) };

fn everything() -> FaultSettings {
    FaultSettings {
        from_s: Seconds::new(0),
        disconnect: Some(DisconnectRate {
            per_client_per_hour: 30,
            modes: vec![DisconnectMode::CleanEnd, DisconnectMode::HalfOpen],
        }),
        outage: Some(OutageRate {
            per_client_per_hour: 4,
            duration_s: Span::new(Seconds::new(2), Seconds::new(9)).unwrap(),
        }),
        stall: Some(StallRate {
            per_hour: 20,
            link: StallLink::Servers,
            duration_s: Span::new(Seconds::new(1), Seconds::new(9)).unwrap(),
        }),
        session_recycle: Some(RecycleRate { per_client_per_hour: 6, to: RecycleTo::Same }),
        buffer_truncate: Some(TruncateRate { per_client_per_hour: 6, keep_events: 3 }),
        counter_wrap: Some(WrapRate { per_client_per_hour: 6 }),
        server_shutdown: Some(ShutdownRate {
            per_hour: 10,
            down_s: Span::new(Seconds::new(1), Seconds::new(5)).unwrap(),
            keep: Keep::default(),
        }),
    }
}

fn generate(settings: &FaultSettings, extent: Extent) -> Vec<ScheduledFault> {
    Schedule::generate(settings, extent, &Draws::new("schedules", 7)).faults
}

fn only(faults: &[ScheduledFault], keep: impl Fn(&ScheduledFault) -> bool) -> Vec<ScheduledFault> {
    faults.iter().filter(|fault| keep(fault)).cloned().collect()
}

#[test]
fn the_same_seed_gives_the_same_schedule_and_another_gives_another() {
    let of = |seed| Schedule::generate(&everything(), EXTENT, &Draws::new("schedules", seed));
    assert_eq!(of(7), of(7));
    assert_ne!(of(7), of(8));
}

#[test]
fn a_client_more_leaves_the_faults_of_the_others_where_they_were() {
    let more = Extent { clients: 9, ..EXTENT };
    let of_the_others = only(&generate(&everything(), more), |f| f.fault.client() != Some(8));
    assert_eq!(of_the_others, generate(&everything(), EXTENT));
}

#[test]
fn a_kind_less_leaves_the_other_kinds_where_they_were() {
    let without = FaultSettings { disconnect: None, ..everything() };
    let others = only(&generate(&everything(), EXTENT), |f| Kind::of(&f.fault) != Kind::Disconnect);
    assert_eq!(generate(&without, EXTENT), others);
}

#[test]
fn a_later_start_and_an_earlier_end_only_leave_faults_out() {
    let later = FaultSettings { from_s: Seconds::from_millis(900_500), ..everything() };
    let shorter = Extent { horizon: Seconds::from_millis(1_800_250), ..EXTENT };
    let within = only(&generate(&everything(), EXTENT), |f| (later.from_s..shorter.horizon).contains(&f.at_s));
    assert_eq!(generate(&later, shorter), within);
}

#[test]
fn faults_come_in_order_in_whole_milliseconds_before_the_horizon() {
    let faults = generate(&everything(), EXTENT);
    assert!(faults.is_sorted_by_key(ScheduledFault::order));
    for fault in &faults {
        assert!(fault.at_s < EXTENT.horizon);
        assert!(fault.at_s.as_micros().is_multiple_of(1000));
    }
}

/// Four standard deviations of the binomial around the mean, over 100 client-hours.
#[test]
fn rates_are_what_the_settings_say() {
    let crowd = Extent { clients: 100, ..EXTENT };
    let faults = generate(&everything(), crowd);
    for (kind, mean) in [
        (Kind::Disconnect, 3000.0_f64),
        (Kind::SessionRecycle, 600.0),
        (Kind::CounterWrap, 600.0),
        (Kind::Stall, 20.0),
        (Kind::ServerShutdown, 20.0),
    ] {
        let count = only(&faults, |f| Kind::of(&f.fault) == kind).len() as f64;
        assert!((count - mean).abs() < 4.0 * mean.sqrt(), "{kind}: {count} for {mean}");
    }
}

#[test]
fn every_mode_and_only_those_asked_for_is_drawn() {
    let faults = generate(&everything(), EXTENT);
    let with = |wanted| only(&faults, |f| matches!(f.fault, Fault::Disconnect { mode, .. } if mode == wanted)).len();
    assert!(with(DisconnectMode::CleanEnd) > 0);
    assert!(with(DisconnectMode::HalfOpen) > 0);
    assert_eq!(with(DisconnectMode::Reset), 0);
}

#[test]
fn no_rate_means_no_fault_and_the_highest_rate_one_a_second() {
    assert!(generate(&FaultSettings::default(), EXTENT).is_empty());
    let flood =
        FaultSettings { counter_wrap: Some(WrapRate { per_client_per_hour: 3600 }), ..FaultSettings::default() };
    assert_eq!(generate(&flood, EXTENT).len(), 8 * 3600);
}

#[test]
fn a_kind_has_one_name_everywhere() {
    let faults = generate(&everything(), EXTENT);
    for kind in Kind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
        let fault = faults.iter().find(|f| Kind::of(&f.fault) == kind).unwrap();
        assert_eq!(fault.fault.name(), kind.name());
        assert_eq!(serde_json::to_value(&fault.fault).unwrap()["kind"], kind.name());
    }
}

#[test]
fn a_file_may_name_its_faults_in_any_order() {
    let text = r#"
format = 1

[[fault]]
at_s = 90.5
kind = "session-recycle"
client = 3
to = "same"

[[fault]]
kind = "server-shutdown"
at_s = 20
server = 1
down_s = 4
keep = { sessions = true }
"#;
    let schedule = Schedule::parse(text, "faults.toml", EXTENT).unwrap();
    let expected = [
        ScheduledFault {
            at_s: Seconds::new(20),
            fault: Fault::ServerShutdown {
                server: 1,
                down_s: Seconds::new(4),
                keep: Keep { sessions: true, ..Keep::default() },
            },
        },
        ScheduledFault {
            at_s: Seconds::from_millis(90_500),
            fault: Fault::SessionRecycle { client: 3, to: RecycleTo::Same },
        },
    ];
    assert_eq!(schedule.faults, expected);
}

#[test]
fn each_mistake_in_a_file_is_named_with_line_and_key() {
    let cases = [
        ("format = 2\nwhatever = 1", "f.toml:1: `format`: this build reads schedule files of format 1 only"),
        ("", "f.toml: `format`: this key is missing"),
        ("format = 1\nfaults = 3", "f.toml:2: `faults`: there is no such key; did you mean `fault`?"),
        ("format = 1\nfault = 3", "f.toml:2: `fault`: expected tables, each under its own [[fault]]"),
        (
            "format = 1\n[[fault]]\nat_s = 5\nkind = 'disconect'",
            "f.toml:4: `fault[0].kind`: there is no fault `disconect` to schedule; did you mean `disconnect`?",
        ),
        (
            "format = 1\n[[fault]]\nat_s = 5\nkind = 'counter-wrap'\nclient = 8",
            "f.toml:5: `fault[0].client`: there is no client 8: the scenario has 8 clients, numbered 0 to 7",
        ),
        (
            "format = 1\n[[fault]]\nat_s = 5\nkind = 'counter-wrap'\nclient = 'x'",
            "f.toml:5: `fault[0].client`: invalid type: string \"x\", expected a whole number from 0 to 4294967295",
        ),
        (
            "format = 1\n[[fault]]\nat_s = 3600\nkind = 'counter-wrap'\nclient = 1",
            "f.toml:3: `fault[0].at_s`: 3600 is not before the horizon, 3600 s: the fault would never strike",
        ),
        (
            "format = 1\n[[fault]]\nat_s = 5\nkind = 'counter-wrap'\nclient = 1\nmode = 'reset'",
            "f.toml:6: `fault[0].mode`: there is no such key; expected one of `at_s`, `kind`, `client`",
        ),
        (
            "format = 1\n[[fault]]\nat_s = 1\nkind = 'counter-wrap'\nclient = 1\n[[fault]]\nkind = 'disconnect'",
            "f.toml:6: `fault[1].at_s`: this key is missing\n\
             f.toml:6: `fault[1].client`: this key is missing\n\
             f.toml:6: `fault[1].mode`: this key is missing",
        ),
        (
            "format = 1\n[[fault]]\nat_s = 1\nkind = 'server-shutdown'\nserver = 0\ndown_s = 1\n[fault.keep]\nsesions = true",
            "f.toml:8: `fault[0].keep.sesions`: there is no such key; did you mean `sessions`?",
        ),
    ];
    for (text, said) in cases {
        let problems = Schedule::parse(text, "f.toml", EXTENT).expect_err(text);
        assert_eq!(problems.to_string(), said, "{text}");
    }
}

fn seconds(below: u64) -> impl Strategy<Value = Seconds> {
    (0..below * 1_000_000).prop_map(Seconds::from_micros)
}

fn any_fault() -> impl Strategy<Value = Fault> {
    use proptest::sample::select;
    let client = 0..EXTENT.clients;
    let modes =
        vec![DisconnectMode::CleanEnd, DisconnectMode::Reset, DisconnectMode::TruncatedEvent, DisconnectMode::HalfOpen];
    prop_oneof![
        (client.clone(), select(modes)).prop_map(|(client, mode)| Fault::Disconnect { client, mode }),
        (client.clone(), seconds(1000)).prop_map(|(client, duration_s)| Fault::Outage { client, duration_s }),
        (select(vec![StallLink::Sites, StallLink::Servers]), seconds(1000))
            .prop_map(|(link, duration_s)| Fault::Stall { link, duration_s }),
        (client.clone(), select(vec![RecycleTo::Same, RecycleTo::Other]))
            .prop_map(|(client, to)| Fault::SessionRecycle { client, to }),
        (client.clone(), any::<u32>()).prop_map(|(client, keep_events)| Fault::BufferTruncate { client, keep_events }),
        client.prop_map(|client| Fault::CounterWrap { client }),
        (0..EXTENT.servers, seconds(1000), any::<[bool; 3]>()).prop_map(
            |(server, down_s, [sessions, store, counters])| Fault::ServerShutdown {
                server,
                down_s,
                keep: Keep { sessions, store, counters },
            }
        ),
    ]
}

proptest! {
    #[test]
    fn a_written_schedule_is_read_as_it_was(
        faults in prop::collection::vec((seconds(3600), any_fault()), 0..20)
    ) {
        let faults = faults.into_iter().map(|(at_s, fault)| ScheduledFault { at_s, fault });
        let schedule = Schedule::new(faults.collect());
        let text = schedule.to_toml();
        match Schedule::parse(&text, "f.toml", EXTENT) {
            Ok(read) => prop_assert_eq!(read, schedule),
            Err(problems) => prop_assert!(false, "{}\n{}", problems, text),
        }
    }

    #[test]
    fn no_text_breaks_the_reader(text in "\\PC*") {
        let _ = Schedule::parse(&text, "f.toml", EXTENT);
        let _ = Schedule::parse(&format!("format = 1\n[[fault]]\n{text}"), "f.toml", EXTENT);
    }
}
