//! Newtypes over strings: an id of one kind is never mistaken for another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// A fresh id; later ones sort after earlier ones (UUIDv7).
            #[must_use]
            pub fn fresh() -> Self {
                Self(format!(concat!($prefix, "{}"), uuid::Uuid::now_v7().simple()))
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    };
}

id!(
    /// One request of a client; names its evidence bundle.
    RequestId, "req-"
);
id!(
    /// One run of a call inside the host; what `abort` takes.
    ExecutionId, "exec-"
);
id!(
    /// One reading of the element tree, reusable for a short while.
    SnapshotId, "snap-"
);
id!(
    /// One screenshot, whose pixel space coordinates can be given in.
    ScreenshotId, "shot-"
);
id!(
    /// One element inside one snapshot.
    ElementId, "el-"
);
