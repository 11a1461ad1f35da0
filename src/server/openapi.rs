//! The OpenAPI 3.1 description of the API. A test builds it from the table of routes, and compares it with
//! `openapi.json`, which the server returns.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::generated_file::compare_with_file;
use crate::server::answer::{JSON, Problem, Shape};
use crate::server::api::routes;
use crate::server::databases::DatabaseList;
use crate::server::request::{Param, ParamType};
use crate::server::route::Route;

#[test]
fn the_description_agrees_with_the_routes() {
    compare_with_file(&format!("{}\n", document()), "src/server/openapi.json");
}

/// The description as a JSON object.
fn document() -> Value {
    // The JSON Schema version of OpenAPI 3.1, for serialized values.
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for route in routes() {
        paths.insert(route.path.to_owned(), path_item(route, &mut generator));
    }
    let text = Shape::text("text/plain");
    for (path, summary, shape) in [
        ("/api/databases", "The served databases", Shape::json::<DatabaseList>()),
        ("/api/openapi.json", "This description of the API", Shape::text(JSON)),
        ("/health", "Whether the server runs", text),
        ("/metrics", "Metrics in the format of Prometheus", text),
    ] {
        let ok = success(shape, &mut generator);
        paths.insert(path.to_owned(), json!({ "get": { "summary": summary, "responses": { "200": ok } } }));
    }
    let mut schemas = generator.take_definitions(true);
    schemas.insert("Problem".to_owned(), problem());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "pgndex",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Routes to a database use the first served database; with the prefix /db/NAME, they use the database \
                            with that name. Answers to GET from a database have an ETag that changes when the database changes.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": {
                "Problem": {
                    "description": "The problem, and how to solve it",
                    "content": { Problem::CONTENT_TYPE: { "schema": { "$ref": "#/components/schemas/Problem" } } },
                },
            },
        },
    })
}

fn path_item(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let in_path = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let in_path = in_path
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }));
    let in_query = route.params.iter().copied().flatten().map(parameter);
    let mut operation = json!({
        "summary": route.summary,
        "parameters": in_path.chain(in_query).collect::<Vec<_>>(),
        "responses": {
            "200": success(route.shape, generator),
            "default": { "$ref": "#/components/responses/Problem" },
        },
    });
    match route.body {
        None => json!({ "get": operation }),
        Some((most, body)) => {
            operation["requestBody"] = json!({
                "required": true,
                "description": format!("At most {most} bytes"),
                "content": content(body, generator),
            });
            json!({ "post": operation })
        }
    }
}

/// The answer to a valid request.
fn success(shape: Shape, generator: &mut SchemaGenerator) -> Value {
    json!({ "description": "OK", "content": content(shape, generator) })
}

/// The content of a request or an answer, by its media type.
fn content(shape: Shape, generator: &mut SchemaGenerator) -> Value {
    let media = match shape.schema {
        Some(schema) => json!({ "schema": schema(generator) }),
        None => json!({}),
    };
    json!({ shape.media_type(): media })
}

fn parameter(param: &Param) -> Value {
    let words = |words: &[&str]| json!({ "type": "string", "enum": words });
    let schema = match param.kind {
        ParamType::Text => json!({ "type": "string" }),
        ParamType::Number(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        ParamType::Flag => json!({ "type": "boolean" }),
        ParamType::OneOf(those) => words(those),
        ParamType::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        ParamType::AnyOf(those) => json!({ "type": "array", "items": words(those) }),
    };
    json!({ "name": param.name, "in": "query", "description": param.what, "schema": schema })
}

/// The schema of a problem, as in RFC 9457.
fn problem() -> Value {
    json!({
        "type": "object",
        "required": ["status", "title", "detail"],
        "properties": {
            "status": { "type": "integer", "description": "The HTTP status" },
            "title": { "type": "string", "description": "The kind of problem; the same text for all problems of a kind" },
            "detail": { "type": "string", "description": "What is wrong, and how to solve it" },
            "parameter": { "type": "string", "description": "The parameter that caused the problem; missing if none did" },
        },
    })
}
