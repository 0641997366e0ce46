//! Results with terms that RDF does not allow, such as an IRI with a space: servers send what somebody once
//! stored, and agents get the same.

use oxrdf::{BlankNode, Literal, NamedNode, Term, Variable};
use serde_json::{Map, Value};

use crate::QueryLimits;
use crate::answer::{Answer, Table};
use crate::failure::QueryFailure;

/// Whether a term is one that RDF allows, so that a query can name it.
pub fn is_allowed(term: &Term) -> bool {
    match term {
        Term::NamedNode(node) => NamedNode::new(node.as_str()).is_ok(),
        Term::BlankNode(node) => BlankNode::new(node.as_str()).is_ok(),
        Term::Literal(literal) => match literal.language() {
            Some(tag) => Literal::new_language_tagged_literal("", tag).is_ok(),
            None => NamedNode::new(literal.datatype().as_str()).is_ok(),
        },
    }
}

/// Reads a table in JSON whatever its terms are like; `None` if it is no table.
pub(crate) fn read_json(text: &[u8], limits: &QueryLimits) -> Option<Result<Answer, QueryFailure>> {
    let json: Value = serde_json::from_slice(text).ok()?;
    let names = json.get("head")?.get("vars")?.as_array()?;
    let names: Vec<&str> = names.iter().map(Value::as_str).collect::<Option<_>>()?;
    let variables: Vec<Variable> =
        names.iter().map(|name| Variable::new(*name).ok()).collect::<Option<_>>()?;
    let mut table = Table::new(&variables);
    for row in json.get("results")?.get("bindings")?.as_array()? {
        let row = row.as_object()?;
        let cell = |name: &&str| match row.get(*name) {
            Some(cell) => term_of(cell.as_object()?).map(Some),
            None => Some(None),
        };
        let cells: Vec<Option<Term>> = names.iter().map(cell).collect::<Option<_>>()?;
        if let Err(failure) = table.push(&cells, limits) {
            return Some(Err(failure));
        }
    }
    Some(Ok(Answer::Table(table)))
}

fn term_of(cell: &Map<String, Value>) -> Option<Term> {
    let text = |key: &str| cell.get(key).and_then(Value::as_str);
    let value = text("value")?;
    Some(match (text("type")?, text("xml:lang"), text("datatype")) {
        ("uri", ..) => NamedNode::new_unchecked(value).into(),
        ("bnode", ..) => BlankNode::new_unchecked(value).into(),
        ("literal" | "typed-literal", Some(tag), _) => {
            Literal::new_language_tagged_literal_unchecked(value, tag.to_ascii_lowercase()).into()
        }
        ("literal" | "typed-literal", None, Some(datatype)) => {
            Literal::new_typed_literal(value, NamedNode::new_unchecked(datatype)).into()
        }
        ("literal" | "typed-literal", None, None) => Literal::new_simple_literal(value).into(),
        _ => return None,
    })
}
