//! Current and target rate, which both forms of DCQCN move in the same way.

use xoff_engine::{Rate, Time};

use crate::traits::FlowEnv;

/// R_C and R_T in bits a second, and the rate and window that follow from them.
#[derive(Clone, Debug)]
pub struct Rates {
    current: f64,
    target: f64,
    line: f64,
    min: f64,
    /// Bytes of window for each bit a second; zero for no window.
    window_per_bps: f64,
    rate: Rate,
    window: u64,
    /// Rates are whole bits a second, and results are rounded down.
    whole_bits: bool,
}

impl Rates {
    /// Both at the line rate.
    pub(super) fn new(env: &FlowEnv, min_rate: Rate, limit_window: bool, whole_bits: bool) -> Self {
        let line = env.line_rate.0 as f64;
        let bdp = env.line_rate.bytes_per_ps() * env.base_rtt.max(Time(1)).0 as f64;
        let mut rates = Rates {
            current: line,
            target: line,
            line,
            min: min_rate.min(env.line_rate).0 as f64,
            window_per_bps: if limit_window { bdp / line } else { 0.0 },
            rate: env.line_rate,
            window: u64::MAX,
            whole_bits,
        };
        rates.state();
        rates
    }

    /// Cuts by `alpha / 2`; with `follow` the target falls to the rate before the cut.
    pub(super) fn cut(&mut self, alpha: f64, follow: bool) {
        if follow {
            self.target = self.current;
        }
        self.current = (self.current * (1.0 - alpha / 2.0)).max(self.min);
        if self.whole_bits {
            self.current = self.current.trunc();
        }
        self.state();
    }

    /// Lowers the rate to `granted`, if that is less, and leaves the target.
    pub(super) fn grant(&mut self, granted: Rate) {
        self.current = self.current.min(granted.0 as f64).max(self.min);
        self.state();
    }

    /// Sets the target to the current rate.
    pub(super) fn hold(&mut self) {
        self.target = self.current;
    }

    /// One step of increase: the target rises by `step` bits a second, the rate halves its distance to the target.
    pub(super) fn raise(&mut self, step: f64) {
        self.target = (self.target + step).min(self.line);
        if self.whole_bits {
            // At the line rate the halves of odd rates leave the rate a bit below, where it stays.
            self.current = (self.target / 2.0).trunc() + (self.current / 2.0).trunc();
            return self.state();
        }
        self.current = (self.target + self.current) / 2.0;
        // Below the resolution of a rate the halving ends.
        if self.line - self.current < 0.5 {
            self.current = self.line;
        }
        self.state();
    }

    fn state(&mut self) {
        self.rate = Rate((self.current + 0.5) as u64);
        if self.window_per_bps > 0.0 {
            self.window = ((self.current * self.window_per_bps) as u64).max(1);
        }
    }

    /// Whether nothing is left to recover.
    pub(super) fn at_line_rate(&self) -> bool {
        self.current >= self.line
    }
    /// R_C.
    pub fn rate(&self) -> Rate {
        self.rate
    }
    /// R_T.
    pub fn target(&self) -> Rate {
        Rate((self.target + 0.5) as u64)
    }
    /// The window in bytes; `u64::MAX` without one.
    pub fn window(&self) -> u64 {
        self.window
    }
}

/// `alpha` after `periods` updates without a CNP, with the same bits as after one multiplication at each update.
pub(super) fn decayed(mut alpha: f64, g: f64, periods: u64) -> f64 {
    for _ in 0..periods {
        let next = (1.0 - g) * alpha;
        if next == alpha {
            break;
        }
        alpha = next;
    }
    alpha
}
