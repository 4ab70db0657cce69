//! What is said of a list of samples.

/// Samples in milliseconds, sorted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stats {
    sorted: Vec<f64>,
}

impl Stats {
    /// Of these samples.
    pub(crate) fn of(mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        Self { sorted: samples }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.sorted.len()
    }

    /// The middle one.
    pub(crate) fn median(&self) -> f64 {
        self.rank(0.5)
    }

    /// Nearly the worst.
    pub(crate) fn p99(&self) -> f64 {
        self.rank(0.99)
    }

    /// The nearest rank; not a number when there are no samples.
    fn rank(&self, part: f64) -> f64 {
        let place = (part * self.sorted.len() as f64).ceil() as usize;
        self.sorted.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks() {
        let stats = |samples: &[f64]| Stats::of(samples.to_vec());
        assert_eq!(stats(&[3.0, 1.0, 2.0]).median(), 2.0);
        assert_eq!(stats(&[4.0, 1.0, 2.0, 3.0]).median(), 2.0);
        assert_eq!(stats(&[7.0]).p99(), 7.0);
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!((stats(&hundred).median(), stats(&hundred).p99()), (50.0, 99.0));
        assert!(stats(&[]).median().is_nan());
    }
}
