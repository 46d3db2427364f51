//! How much work a comparison may be.

/// Steps for each line. Comparisons of real files need a few; what git's heuristics allow at most is
/// about 512 for files of up to 65,000 lines, and grows with the length of longer ones.
pub(super) const STEPS_FOR_A_LINE: u64 = 512;
/// Steps for short lists, where nothing can take long.
pub(super) const STEPS_AT_LEAST: u64 = 1 << 16;

/// Steps that were made and those that are left.
#[derive(Debug)]
pub(super) struct Effort {
    most: u64,
    pub(super) spent: u64,
}

impl Effort {
    pub(super) fn for_lines(lines: usize) -> Effort {
        Effort { most: STEPS_FOR_A_LINE * lines as u64 + STEPS_AT_LEAST, spent: 0 }
    }

    #[cfg(test)]
    pub(super) fn unlimited() -> Effort {
        Effort { most: u64::MAX, spent: 0 }
    }

    #[cfg(test)]
    pub(super) fn none() -> Effort {
        Effort { most: 0, spent: 0 }
    }

    pub(super) fn spend(&mut self, steps: usize) {
        self.spent += steps as u64;
    }

    pub(super) fn is_used_up(&self) -> bool {
        self.spent >= self.most
    }
}
