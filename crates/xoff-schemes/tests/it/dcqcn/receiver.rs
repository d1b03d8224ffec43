//! The receiver's CNPs.

use super::*;

fn arrive(np: &mut impl NotificationPoint, at: Time, mark: Mark) -> Option<Cnp> {
    np.on_data(&Arrival { now: at, payload: 938, frame: 1_000, mark, credit: 0 })
}

#[test]
fn the_first_mark_is_reported_at_once_and_then_one_an_interval() {
    let mut np = Dcqcn::default().notification(&flow_env(Rate::from_gbps(40), us(10)));
    assert_eq!(arrive(&mut np, us(5), Mark::None), None);
    assert_eq!(arrive(&mut np, us(10), Mark::Ce), Some(cnp(Mark::Ce)));
    assert_eq!(np.next_timer(), Time::NEVER);
    // Marks at 20 and 59 us wait for the end of the interval, at 60 us.
    assert_eq!(arrive(&mut np, us(20), Mark::Ue), None);
    assert_eq!(arrive(&mut np, us(59), Mark::Ce), None);
    assert_eq!(np.next_timer(), us(60));
    assert_eq!(np.on_timer(Time(us(60).0 - 1)), None);
    assert_eq!(np.on_timer(us(60)), Some(cnp(Mark::Ce)));
    assert_eq!(np.next_timer(), Time::NEVER);
    // That CNP opens an interval of its own; after a silent one the next mark goes at once.
    assert_eq!(arrive(&mut np, us(61), Mark::Ue), None);
    assert_eq!(np.on_timer(us(110)), Some(cnp(Mark::Ue)));
    assert_eq!(arrive(&mut np, us(160), Mark::Ce), Some(cnp(Mark::Ce)));
}

#[test]
fn a_periodic_receiver_counts_from_the_flows_first_packet() {
    let params = Dcqcn { np: Some(Np::Periodic), ..Dcqcn::default() };
    let mut np = params.notification(&flow_env(Rate::from_gbps(40), us(10)));
    assert_eq!(arrive(&mut np, us(7), Mark::None), None);
    assert_eq!(np.next_timer(), Time::NEVER);
    // Intervals end at 57, 107, 157 us.
    assert_eq!(arrive(&mut np, us(60), Mark::Ce), None);
    assert_eq!(np.next_timer(), us(107));
    assert_eq!(arrive(&mut np, us(70), Mark::Ce), None);
    assert_eq!(np.on_timer(us(107)), Some(cnp(Mark::Ce)));
    assert_eq!(np.next_timer(), Time::NEVER);
    assert_eq!(arrive(&mut np, us(108), Mark::Ce), None);
    assert_eq!(np.next_timer(), us(157));
}
