//! The operations that carry an idempotency key.
//!
//! Invariant: the operation is part of a key's content, so a key that created a sale can never void it.

/// What a keyed request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    CreateTransaction,
    VoidTransaction,
    CreatePayment,
}

impl Operation {
    pub const ALL: [Operation; 3] =
        [Operation::CreateTransaction, Operation::VoidTransaction, Operation::CreatePayment];

    /// The name in stores, fingerprints and logs. Part of stored fingerprints: never to be changed.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::CreateTransaction => "create_transaction",
            Operation::VoidTransaction => "void_transaction",
            Operation::CreatePayment => "create_payment",
        }
    }

    pub fn parse(name: &str) -> Option<Operation> {
        Operation::ALL.into_iter().find(|operation| operation.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_found_by_its_name() {
        for operation in Operation::ALL {
            assert_eq!(Operation::parse(operation.as_str()), Some(operation));
        }
        assert_eq!(Operation::CreatePayment as usize + 1, Operation::ALL.len());
        assert_eq!(Operation::parse("Create"), None);
    }
}
