//! Checks values against the JSON Schemas of this project. An unknown keyword panics, and a member that the schema does
//! not name is an error.

use std::collections::BTreeSet;

use serde_json::Value;

/// A JSON Schema.
pub(crate) struct Schema(Value);

impl Schema {
    pub(crate) fn parse(text: &str) -> Self {
        Self(serde_json::from_str(text).expect("JSON"))
    }

    /// Returns an error that says where the value does not match the schema.
    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        self.complete(&self.0, value)
    }

    /// Checks a value, and that the schema names all of its members.
    fn complete(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let named = self.named(schema, value)?;
        let unknown = value
            .as_object()
            .into_iter()
            .flat_map(|object| object.keys())
            .find(|name| !named.contains(*name));
        unknown.map_or(Ok(()), |name| Err(format!("{name} is not described")))
    }

    /// Checks a value, and returns the names of the members that the schema describes.
    fn named(&self, schema: &Value, value: &Value) -> Result<BTreeSet<String>, String> {
        let mut named = BTreeSet::new();
        let all = || value.as_object().into_iter().flat_map(|object| object.keys().cloned());
        if schema == &Value::Bool(true) {
            return Ok(all().collect());
        }
        let schema = schema.as_object().expect("an object or true");
        for (keyword, what) in schema {
            let fits = match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" | "format" => true,
                "$ref" => {
                    named.extend(self.named(self.target(what), value)?);
                    true
                }
                "type" => words(what).any(|word| is_of_type(value, word)),
                "const" => what == value,
                "enum" => what.as_array().expect("a list").contains(value),
                "minimum" => value.as_f64().is_none_or(|number| Some(number) >= what.as_f64()),
                "maximum" => value.as_f64().is_none_or(|number| Some(number) <= what.as_f64()),
                "required" => words(what).all(|name| value.get(name).is_some()),
                "properties" => {
                    for (name, schema) in what.as_object().expect("an object") {
                        if let Some(value) = value.get(name) {
                            self.complete(schema, value).map_err(|error| format!("{name}: {error}"))?;
                            named.insert(name.clone());
                        }
                    }
                    true
                }
                "additionalProperties" => {
                    let known = schema.get("properties").and_then(Value::as_object);
                    for name in all().filter(|name| known.is_none_or(|known| !known.contains_key(name))) {
                        self.complete(what, &value[&name]).map_err(|error| format!("{name}: {error}"))?;
                        named.insert(name);
                    }
                    true
                }
                "items" => {
                    for item in value.as_array().into_iter().flatten() {
                        self.complete(what, item)?;
                    }
                    true
                }
                "anyOf" | "oneOf" => {
                    let tried =
                        what.as_array().expect("a list").iter().map(|schema| self.named(schema, value));
                    let (fitting, others): (Vec<_>, Vec<_>) = tried.partition(Result::is_ok);
                    if fitting.is_empty() {
                        let reasons: Vec<_> = others.into_iter().filter_map(Result::err).collect();
                        return Err(format!("none of these: {}", reasons.join("; ")));
                    }
                    let is_one = keyword == "anyOf" || fitting.len() == 1;
                    named.extend(fitting.into_iter().flatten().flatten());
                    is_one
                }
                other => panic!("unknown keyword: {other}"),
            };
            if !fits {
                return Err(format!("{value} does not fit {keyword} {what}"));
            }
        }
        Ok(named)
    }

    /// The schema to which a reference points.
    fn target(&self, reference: &Value) -> &Value {
        let pointer = reference.as_str().and_then(|reference| reference.strip_prefix('#'));
        pointer.and_then(|pointer| self.0.pointer(pointer)).expect("a definition in the schema")
    }
}

/// One string, or the strings of an array.
fn words(value: &Value) -> impl Iterator<Item = &str> {
    let list = value.as_array().into_iter().flatten();
    list.chain(value.is_string().then_some(value)).map(|word| word.as_str().expect("a word"))
}

fn is_of_type(value: &Value, word: &str) -> bool {
    match word {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("unknown type: {other}"),
    }
}

#[test]
fn mismatches_are_reported() {
    let schema = Schema::parse(
        r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"],
        "oneOf":[{"properties":{"b":{"const":1}},"required":["b"]},{"properties":{"c":{"type":["string","null"]}},"required":["c"]}],
        "$defs":{"A":{"type":"array","items":{"type":"integer","minimum":0}}}}"##,
    );
    let check = |text: &str| schema.check(&serde_json::from_str(text).expect("JSON"));
    for text in [r#"{"a":[],"b":1}"#, r#"{"a":[1,2],"c":null}"#, r#"{"c":"x","a":[0]}"#] {
        assert_eq!(check(text), Ok(()), "{text}");
    }
    for text in [
        "[]",
        "{}",
        r#"{"a":[]}"#,
        r#"{"a":[],"b":2}"#,
        r#"{"a":[],"c":1}"#,
        r#"{"a":[-1],"b":1}"#,
        r#"{"a":["x"],"b":1}"#,
        r#"{"a":1,"b":1}"#,
        r#"{"a":[],"b":1,"d":1}"#,
        r#"{"a":[],"b":1,"c":null}"#,
    ] {
        assert!(check(text).is_err(), "{text}");
    }
}
