//! The application's own ids of elements: the `id` attributes of a page.

use deskhand_platform::Result;

use super::conn::Reply;
use super::model::Model;
use super::names::ACCESSIBLE;
use super::read::Source;
use super::wire::Args;

/// Reads the ids of items that were not asked yet. False when a bound was hit.
pub(super) fn identifiers(source: &Source<'_>, model: &mut Model, which: &[u32]) -> Result<bool> {
    let asked: Vec<(u32, String)> = which
        .iter()
        .filter(|i| model.item(**i).identifier.is_none())
        .map(|i| (*i, model.item(*i).path.clone()))
        .collect();
    let (replies, ended) =
        source.batch(asked.iter().map(|(_, p)| source.call(p, ACCESSIBLE, "GetAttributes", Args::default())));
    for ((i, _), reply) in asked.iter().zip(&replies) {
        let Some(mut reader) = reply.as_ref().and_then(Reply::ok) else { continue };
        let mut id = String::new();
        reader.array(8, |r| {
            r.align(8);
            let (key, value) = (r.str(), r.str());
            if key == "id" {
                id = value.to_owned();
            }
        });
        model.item_mut(*i).identifier = Some(id);
    }
    source.settle(model, ended)
}
