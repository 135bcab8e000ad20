//! Tests the limits of a host's policy.

use super::*;

#[test]
fn policy_limits_rate_and_duration() {
    let stream = |rate: Option<f64>, streams, millis| {
        let until = Until::Elapsed(Nanos::from_millis(millis));
        WorkloadSettings::Stream(StreamSettings {
            rate: rate.map(BitRate),
            streams,
            ..StreamSettings::new(until)
        })
    };
    let every = |period| {
        let schedule = Schedule::Open { period: Nanos::from_millis(period) };
        let message = Bytes(1000);
        WorkloadSettings::PingPong(PingPongSettings {
            message,
            schedule,
            ..PingPongSettings::new(Nanos::from_secs(1))
        })
    };
    let closed = WorkloadSettings::PingPong(PingPongSettings::new(Nanos::from_millis(100)));
    let amount = StreamSettings { rate: Some(BitRate(1e3)), ..StreamSettings::new(Until::Sent(Bytes(1))) };
    let policy = HostPolicy {
        rate: Some(BitRate(1e6)),
        duration: Some(Nanos::from_secs(1)),
        hours: Some("00:00-23:59".parse().expect("a part of the day")),
        ..HostPolicy::default()
    };
    for (load, refused) in [
        (stream(Some(5e5), 2, 1000), None),
        (stream(Some(6e5), 2, 1000), Some("this one sends 1.20 Mbit/s")),
        (stream(None, 1, 1000), Some("has no rate")),
        (stream(Some(1e5), 1, 1001), Some("this one takes 1.00 s")),
        (every(8), None),
        (every(7), Some("this one sends 1.14 Mbit/s")),
        (closed, Some("has no rate")),
        (WorkloadSettings::Stream(amount), Some("ends after a number of bytes")),
    ] {
        let error = policy.check(&load, 0).err();
        assert_eq!(error.is_some(), refused.is_some(), "{load:?}: {error:?}");
        assert!(refused.is_none_or(|refused| error.is_some_and(|error| error.contains(refused))), "{load:?}");
    }
    let mut agent = Agent::under(policy).greet();
    let load = stream(None, 1, 100);
    let serve = ServerOrder { token: TOKEN, bind: HERE, load: load.clone(), cpus: None };
    assert!(agent.refusal(SOON, Order::Serve(serve)).contains("has no rate"));
    let run = ClientOrder { token: TOKEN, bind: HERE, server: HERE, port: 1, load, cpus: None };
    assert!(agent.refusal(SOON, Order::Run(run)).contains("has no rate"));
}

#[test]
fn policy_hours_may_span_midnight() {
    let minute = |hour: u64, minute: u64| 20_000 * 86_400 + (hour * 60 + minute) * 60;
    for (hours, within, without) in [
        ("22:00-06:00", vec![(22, 0), (0, 0), (5, 59)], vec![(6, 0), (21, 59)]),
        ("09:30-17:00", vec![(9, 30), (16, 59)], vec![(9, 29), (17, 0), (0, 0)]),
    ] {
        let policy =
            HostPolicy { hours: Some(hours.parse().expect("a part of the day")), ..HostPolicy::default() };
        let may = |(hour, at): &(u64, u64)| policy.check_hours(minute(*hour, *at)).is_ok();
        assert!(within.iter().all(may) && !without.iter().any(may), "{hours}");
    }
    for wrong in ["", "22:00", "24:00-06:00", "22:60-06:00", "08:00-08:00", "8-9"] {
        assert!(wrong.parse::<Hours>().is_err(), "{wrong}");
    }
}
