//! What a pass of a pipeline stage computes and sends, from the model's few numbers.
//!
//! With h elements in a token's vector, b sequences of s tokens in a micro-batch and t ranks that share a layer, a layer's
//! forward pass takes 8 b s h^2 + 4 b s^2 h operations for attention and 16 b s h^2 for the feed-forward part of inner size 4 h
//! (Narayanan et al., appendix: 24 b s h^2 + 4 b s^2 h together), of which a rank has a t-th. A backward pass takes twice as many,
//! and a forward pass more, with its sums and exchanges, if it computes activations again. The logits take 2 b s h V, with V words, and
//! are not computed again.
//!
//! A layer has 12 h^2 parameters, 4 h^2 of attention and 8 h^2 of the feed-forward part; with experts the latter is there once for
//! each expert. Biases and norms are left out: they are below a thousandth.

use xoff_engine::Time;

use super::Training;

/// A part of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Segment {
    /// The rank computes.
    Compute(Time),
    /// The ranks that share a layer sum so many bytes.
    TensorSum(u64),
    /// The ranks that share a layer gather so many bytes, of which each has got a part.
    TensorGather(u64),
    /// Each rank of an expert group has so many bytes for all of them.
    ExpertExchange(u64),
}

/// A pass of a stage.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pass {
    /// What it does, in order.
    pub(super) segments: Vec<Segment>,
}

impl Pass {
    /// The time that it computes.
    pub(super) fn computes(&self) -> Time {
        let times =
            self.segments.iter().map(|s| if let Segment::Compute(time) = s { *time } else { Time::ZERO });
        times.fold(Time::ZERO, Time::saturating_add)
    }

    /// The pass in `parts` parts, in each of which it computes for as long: computations are cut, and what is no computation goes
    /// with the part that it stands in or ends.
    pub(super) fn cut(&self, parts: u32) -> Vec<Vec<Segment>> {
        let whole = self.computes().ps();
        // The end of a part on the pass's own clock, which stands still while the pass does not compute.
        let end_of = |part: usize| (u128::from(whole) * (part as u128 + 1) / u128::from(parts)) as u64;
        let mut cut = vec![vec![]; parts as usize];
        let (mut part, mut at) = (0, 0);
        for segment in &self.segments {
            let Segment::Compute(time) = *segment else {
                cut[part].push(*segment);
                continue;
            };
            let end = at + time.ps();
            while at < end {
                // A part that is full, with what stood behind it, is over.
                while at == end_of(part) && part + 1 < cut.len() {
                    part += 1;
                }
                let until = end.min(end_of(part));
                cut[part].push(Segment::Compute(Time(until - at)));
                at = until;
            }
        }
        cut
    }

    /// An upper bound of its time of computing, with the slowest straggler and the largest jitter.
    pub(super) fn longest(&self) -> Time {
        Time(self.computes().ps().saturating_mul(2000))
    }
}

/// What the layers of a pipeline stage cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage<'a> {
    training: &'a Training,
    is_first: bool,
    is_last: bool,
}

impl<'a> Stage<'a> {
    /// Stage `number` of the pipeline.
    pub(super) fn new(training: &'a Training, number: u32) -> Stage<'a> {
        Stage { training, is_first: number == 0, is_last: number + 1 == training.pipeline }
    }

    /// Tokens of a micro-batch.
    fn tokens(self) -> u64 {
        u64::from(self.training.micro_batch) * u64::from(self.training.sequence)
    }

    /// Bytes of a micro-batch's activations between two layers: each token's vector; the largest number if the product does not fit.
    pub(super) fn activations(self) -> u64 {
        let t = self.training;
        self.tokens().saturating_mul(u64::from(t.hidden) * u64::from(t.activation_bytes))
    }

    /// Bytes that a rank sends to the next stage for a micro-batch: ranks that share a layer send a part each (Narayanan et al.,
    /// section 4.1).
    pub(super) fn to_next(self) -> u64 {
        self.activations().div_ceil(u64::from(self.training.tensor)).max(1)
    }

    fn layers(self) -> u32 {
        self.training.layers / self.training.pipeline
    }

    /// Whether a layer of the stage has experts: the last one of each interval.
    fn has_experts(self, layer: u32) -> bool {
        self.training.experts.is_some() && (layer + 1).is_multiple_of(self.training.expert_interval)
    }

    /// Forward operations of a layer: attention, and the feed-forward part.
    fn operations(self, layer: u32) -> (f64, f64) {
        let t = self.training;
        let (bs, s, h) = (self.tokens() as f64, f64::from(t.sequence), f64::from(t.hidden));
        let experts = if self.has_experts(layer) { f64::from(t.top_k) } else { 1.0 };
        (8.0 * bs * h * h + 4.0 * bs * s * h, 16.0 * bs * h * h * experts)
    }

    fn time(self, operations: f64) -> Time {
        let t = self.training;
        // Operations over 10^12 operations a second are seconds, of 10^12 ps each: the factors cancel.
        Time(libm::round(operations / f64::from(t.tensor) / t.tflops) as u64)
    }

    /// The pass of a micro-batch: forward, or backward in the opposite order. A layer that computes its activations again runs its
    /// forward pass, with what that sends, ahead of its backward pass.
    pub(super) fn pass(self, backward: bool) -> Pass {
        let mut segments = Segments::default();
        // Each rank has got a part of the activations, or of their gradients, from its neighbour (Narayanan et al., section 4.1).
        let comes_from_a_neighbour = if backward { !self.is_last } else { !self.is_first };
        let gathers = comes_from_a_neighbour && self.training.tensor > 1;
        segments.extend(gathers.then(|| Segment::TensorGather(self.activations())));
        if !backward {
            (0..self.layers()).for_each(|layer| segments.extend(self.layer(layer, false)));
            segments.extend(self.logits(1.0));
            return Pass { segments: segments.0 };
        }
        segments.extend(self.logits(2.0));
        for layer in (0..self.layers()).rev() {
            if self.training.recompute {
                segments.extend(self.layer(layer, false));
            }
            segments.extend(self.layer(layer, true));
        }
        Pass { segments: segments.0 }
    }

    /// A layer's forward or backward pass. In both a sum stands behind each block (Shoeybi et al., section 3: g sums behind a block
    /// forward, f backward), and exchanges around the experts.
    fn layer(self, layer: u32, backward: bool) -> Vec<Segment> {
        let t = self.training;
        let (attention, feed_forward) = self.operations(layer);
        let mut blocks = [(attention, false), (feed_forward, self.has_experts(layer) && t.expert > 1)];
        if backward {
            blocks.reverse();
        }
        let factor = if backward { 2.0 } else { 1.0 };
        let sum = (t.tensor > 1).then(|| Segment::TensorSum(self.activations()));
        let of_block = |(operations, exchanges): (f64, bool)| {
            let exchange = exchanges.then(|| Segment::ExpertExchange(self.exchange()));
            [exchange, Some(Segment::Compute(self.time(operations * factor))), exchange, sum]
        };
        blocks.into_iter().flat_map(of_block).flatten().collect()
    }

    /// The logits, with `factor` times their operations; nothing unless the stage has them.
    fn logits(self, factor: f64) -> Option<Segment> {
        let words = self.training.vocabulary.filter(|_| self.is_last)?;
        let operations = 2.0 * self.tokens() as f64 * f64::from(self.training.hidden) * f64::from(words);
        Some(Segment::Compute(self.time(operations * factor)))
    }

    /// Bytes that a rank has for the experts of a layer: its part of the tokens, each for `top_k` experts.
    fn exchange(self) -> u64 {
        let t = self.training;
        self.activations().saturating_mul(u64::from(t.top_k)).div_ceil(u64::from(t.tensor)).max(1)
    }

    /// Parameters of a rank that all replicas have, and those of its experts.
    fn parameters(self) -> (u128, u128) {
        let t = self.training;
        let square = u128::from(t.hidden) * u128::from(t.hidden);
        let with_experts = (0..self.layers()).filter(|&layer| self.has_experts(layer)).count() as u128;
        let layers = u128::from(self.layers());
        let ends = u128::from(self.is_first) + u128::from(self.is_last && !self.is_first);
        let embedding = u128::from(t.hidden) * u128::from(t.vocabulary.unwrap_or(0)) * ends;
        let dense = layers * 4 * square + (layers - with_experts) * 8 * square + embedding;
        let own_experts = u128::from(t.experts.unwrap_or(0) / t.expert);
        let tensor = u128::from(t.tensor);
        (dense.div_ceil(tensor), (with_experts * 8 * square * own_experts).div_ceil(tensor))
    }

    /// Bytes of a rank's gradients: of the parameters that all replicas have, and of its experts; the largest number if a product
    /// does not fit.
    pub(super) fn gradients(self) -> (u64, u64) {
        let (dense, experts) = self.parameters();
        let bytes = |parameters: u128| {
            u64::try_from(parameters * u128::from(self.training.gradient_bytes)).unwrap_or(u64::MAX)
        };
        (bytes(dense), bytes(experts))
    }
}

/// Segments in order, with neighbouring computations as one.
#[derive(Default)]
struct Segments(Vec<Segment>);

impl Segments {
    fn extend(&mut self, segments: impl IntoIterator<Item = Segment>) {
        for segment in segments {
            match (self.0.last_mut(), segment) {
                (Some(Segment::Compute(last)), Segment::Compute(time)) => *last = last.saturating_add(time),
                _ => self.0.push(segment),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// h = 1000, b = 2 sequences of 100 tokens, two layers in one stage.
    fn training(more: &str) -> Training {
        let own =
            ["layers", "tensor", "data"].into_iter().filter(|key| !more.contains(&format!("\"{key}\"")));
        let own: String =
            own.map(|key| format!("\"{key}\": {}, ", if key == "layers" { 2 } else { 1 })).collect();
        let text = format!(
            r#"{{{own}"hidden": 1000, "sequence": 100, "batch": 2, "micro_batch": 2, "tflops": 1.0{more}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_layer_s_operations_are_those_of_the_paper() {
        // 24 b s h^2 + 4 b s^2 h = 24 * 200 * 10^6 + 4 * 2 * 10^4 * 1000 = 4.88e9 operations a layer; two layers at 10^12 a second
        // take 9.76 ms, and twice as long back.
        let training = training("");
        let stage = Stage::new(&training, 0);
        assert_eq!(stage.pass(false).segments, [Segment::Compute(Time::from_us(9760))]);
        assert_eq!(stage.pass(true).segments, [Segment::Compute(Time::from_us(19520))]);
        // 12 h^2 parameters a layer, of two bytes.
        assert_eq!(stage.gradients(), (2 * 12_000_000 * 2, 0));
        // A token's vector has 2000 B.
        assert_eq!(stage.to_next(), 200 * 2000);
    }

    #[test]
    fn a_pass_is_cut_into_parts_of_equal_computation() {
        // 420 us, a sum, 800 us, a sum, twice: 2440 us, so that each of two parts has 1220 us, and each of four 610 us: 420 us, the
        // sum and 190 us; the other 610 us of the 800 us; and so on. A sum at the end of a part goes with it.
        let training = training(r#", "tensor": 4"#);
        let pass = Stage::new(&training, 0).pass(false);
        let (us, sum) = (|us| Segment::Compute(Time::from_us(us)), Segment::TensorSum(400_000));
        let half = vec![us(420), sum, us(800), sum];
        assert_eq!(pass.cut(2), [half.clone(), half]);
        let (first, second) = (vec![us(420), sum, us(190)], vec![us(610), sum]);
        assert_eq!(pass.cut(4), [first.clone(), second.clone(), first, second]);
        // More parts than segments: each has something to compute.
        let many = pass.cut(32);
        assert!(many.iter().all(|part| part.iter().any(|s| matches!(s, Segment::Compute(t) if t.ps() > 0))));
        assert_eq!(many.iter().flatten().filter(|s| matches!(s, Segment::TensorSum(_))).count(), 4);
    }

    #[test]
    fn both_passes_have_the_operations_that_the_paper_sums_up() {
        let training = training(r#", "recompute": true, "vocabulary": 5000"#);
        let stage = Stage::new(&training, 0);
        // The appendix has 96 B s l h^2 (1 + s / (6 h) + V / (16 l h)) with B sequences and l layers, for all passes with activations
        // computed again: 96 * 200 * 2 * 10^6 * (1 + 100 / 6000 + 5000 / 32000) = 4.504e10.
        let (forward, backward) = (stage.pass(false).computes(), stage.pass(true).computes());
        assert_eq!(forward + backward, Time::from_us(45_040));
        // The logits, 2 * 200 * 1000 * 5000 = 2e9 operations, are not computed again.
        assert_eq!(forward, Time::from_us(9760 + 2000));
        // The only stage has one embedding of 5000 * 1000 elements.
        assert_eq!(stage.gradients().0, 2 * (24_000_000 + 5_000_000));
    }

    #[test]
    fn a_layer_that_is_computed_again_sums_again() {
        let training = training(r#", "tensor": 4, "recompute": true"#);
        let back = Stage::new(&training, 0).pass(true).segments;
        // Of each of two layers, in the opposite order: forward 420 us, a sum, 800 us and a sum; backward 1600 us, a sum, 840 us, a sum.
        let (us, sum) = (|us| Segment::Compute(Time::from_us(us)), Segment::TensorSum(400_000));
        let layer = [us(420), sum, us(800), sum, us(1600), sum, us(840), sum];
        assert_eq!(back, [layer, layer].concat());
    }

    #[test]
    fn parts_from_a_neighbour_are_gathered() {
        let training = training(r#", "tensor": 4, "pipeline": 2"#);
        let (first, last) = (Stage::new(&training, 0), Stage::new(&training, 1));
        // Activations of 400,000 B come to the second stage, and their gradients to the first one.
        let gather = Segment::TensorGather(400_000);
        let has = |pass: Pass| pass.segments.contains(&gather);
        assert_eq!([has(first.pass(false)), has(first.pass(true))], [false, true]);
        assert_eq!([has(last.pass(false)), has(last.pass(true))], [true, false]);
        assert_eq!(last.pass(false).segments[0], gather);
    }

    #[test]
    fn ranks_that_share_layers_sum_twice_a_layer_and_compute_their_part() {
        let training = training(r#", "tensor": 4"#);
        let stage = Stage::new(&training, 0);
        // Attention: 8 * 200 * 10^6 + 4 * 200 * 100 * 1000 = 1.68e9 operations; feed-forward: 3.2e9. A fourth of each.
        let (us, sum) = (|us| Segment::Compute(Time::from_us(us)), Segment::TensorSum(400_000));
        let layer = [us(420), sum, us(800), sum];
        assert_eq!(stage.pass(false).segments, [layer, layer].concat());
        // Back, the feed-forward part comes first, and a sum stands behind each part again.
        let layer = [us(1600), sum, us(840), sum];
        assert_eq!(stage.pass(true).segments, [layer, layer].concat());
        assert_eq!((stage.gradients().0, stage.to_next()), (12_000_000, 100_000));
    }

    #[test]
    fn experts_exchange_tokens_before_and_after() {
        let more = r#", "data": 2, "batch": 4, "experts": 8, "expert": 2, "top_k": 2, "expert_interval": 2"#;
        let text = format!(
            r#"{{"layers": 2, "hidden": 1000, "sequence": 100, "micro_batch": 2, "tflops": 1.0{more}}}"#
        );
        let training: Training = serde_json::from_str(&text).unwrap();
        let stage = Stage::new(&training, 0);
        // The first layer as without experts, 1.68e9 + 3.2e9; then attention of the second one; its tokens, each for two experts,
        // are 2 * 400,000 B; and its feed-forward part counts twice.
        let exchange = Segment::ExpertExchange(800_000);
        let expected = [
            Segment::Compute(Time::from_us(4880 + 1680)),
            exchange,
            Segment::Compute(Time::from_us(6400)),
            exchange,
        ];
        assert_eq!(stage.pass(false).segments, expected);
        // Of all replicas: 12 h^2 and 4 h^2; of the rank's own four experts: 4 * 8 h^2.
        assert_eq!(stage.gradients(), (2 * 16_000_000, 2 * 32_000_000));
    }
}
