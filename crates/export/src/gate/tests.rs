use super::*;
use proptest::prelude::*;

fn score(signals: &[Signal], cost: f64) -> Score {
    Score::of(signals.iter().copied().collect(), cost)
}

#[test]
fn a_score_says_what_it_is_made_of() {
    let plain = score(&[], 0.002);
    assert!((0.04..0.06).contains(&plain.probability));
    let failed = score(&[Signal::ResultError, Signal::Mutating], 0.002);
    assert_eq!(
        failed.explain(),
        "p 0.71 (base -3, result_error +3.5, mutating +0.4) \u{d7} 1.5 / 0.002000"
    );
    assert!(failed.ratio() > 5.0 * plain.ratio());
    assert!(score(&[], f64::NAN).ratio() >= 0.0 && score(&[], 0.0).ratio().is_finite());
}

#[test]
fn names_are_read_as_they_are_written() {
    for signal in Signal::ALL {
        assert_eq!(
            Signals::named([signal.name(), "of-tomorrow"]).iter().collect::<Vec<_>>(),
            [signal]
        );
    }
}

#[test]
fn equals_are_taken_in_their_order() {
    let scores = vec![score(&[], 1.0); 5];
    assert_eq!(pick(&scores, 2.5).places, [0, 1]);
    assert!(pick(&scores, 0.0).places.is_empty());
}

#[test]
fn a_report_adds_up() {
    let scores: Vec<Score> = (0..100)
        .map(|at| score(if at % 7 == 0 { &[Signal::Rejected] } else { &[] }, f64::from(at + 1)))
        .collect();
    let report = GateReport::of(&scores, Some(1234.0));
    assert_eq!(report.states, 100);
    assert_eq!(report.bands.iter().map(|band| band.states).sum::<u64>(), 100);
    assert_eq!(report.signals, [(Signal::Rejected, 15)]);
    assert!((report.cost - 5050.0).abs() < 1e-6);
    let last = report.budgets.last().unwrap();
    assert_eq!((last.states, report.budgets.len()), (100, 9));
    for pair in report.budgets.windows(2) {
        assert!(pair[0].budget <= pair[1].budget && pair[0].expected <= pair[1].expected);
    }
    for buys in &report.budgets {
        assert!(buys.cost <= buys.budget && buys.expected + 1e-9 >= buys.by_chance);
    }
}

fn any_score() -> impl Strategy<Value = Score> {
    (0u16..512, 1u32..1000).prop_map(|(bits, cost)| {
        let on = |(at, signal): (usize, Signal)| (bits & (1 << at) != 0).then_some(signal);
        Score::of(Signal::ALL.into_iter().enumerate().filter_map(on).collect(), f64::from(cost))
    })
}

proptest! {
    /// Never over the budget, never less than what the best single state brings, and at least half of the best
    /// choice there is (the law of the greedy rule with the best single one), which is searched for.
    #[test]
    fn the_choice_is_near_the_best(scores in prop::collection::vec(any_score(), 1..12), budget in 0.0..3000.0f64) {
        let picked = pick(&scores, budget);
        prop_assert!(picked.cost <= budget);
        let sum = |places: &[usize]| places.iter().map(|at| scores[*at].cost).sum::<f64>();
        prop_assert!((sum(&picked.places) - picked.cost).abs() < 1e-6);
        let mut best = 0.0f64;
        let mut single = 0.0f64;
        for chosen in 0u32..1 << scores.len() {
            let places: Vec<usize> = (0..scores.len()).filter(|at| chosen & (1 << at) != 0).collect();
            if sum(&places) <= budget {
                let worth: f64 = places.iter().map(|at| scores[*at].worth()).sum();
                best = best.max(worth);
                if places.len() == 1 {
                    single = single.max(worth);
                }
            }
        }
        prop_assert!(2.0 * picked.worth.max(single) + 1e-9 >= best);
        // More money buys no less.
        prop_assert!(pick(&scores, f64::MAX).places.len() == scores.len());
    }

    #[test]
    fn a_signal_only_adds(bits in 0u16..512, extra in 0usize..9) {
        let all = Signal::ALL;
        let set: Signals = all.into_iter().enumerate().filter(|(at, _)| bits & (1 << at) != 0).map(|(_, one)| one).collect();
        let mut more = set;
        more.insert(all[extra]);
        prop_assert!(Score::of(more, 1.0).worth() >= Score::of(set, 1.0).worth());
    }
}
