//! The shapes that values of a plan file come in. Serde takes more shapes than JSON Schema does; these
//! take the same.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// One of the words of an enum, and only as a string: serde would also take `{ low = {} }`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct Word<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Text<T> {
            type Value = Word<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word")
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<Word<T>, E> {
                T::deserialize(word.into_deserializer()).map(Word)
            }
        }
        deserializer.deserialize_str(Text(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Word<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// A table, and only a table: serde would also take its values as an array.
#[derive(Debug, Clone, Default)]
pub struct Table<T>(pub T);

impl<T> Deref for Table<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Table<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Table<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Table)
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Table<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// A table whose keys are names.
#[derive(Debug, Clone)]
pub struct Named<K, V>(pub BTreeMap<K, V>);

impl<K, V> Default for Named<K, V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Deserialize<'de> for Named<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        BTreeMap::deserialize(deserializer).map(Self)
    }
}

impl<K: Serialize, V: Serialize> Serialize for Named<K, V> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<K: JsonSchema, V: JsonSchema> JsonSchema for Named<K, V> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Named{}", V::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "propertyNames": generator.subschema_for::<K>(),
            "additionalProperties": generator.subschema_for::<V>(),
        })
    }
}

/// A short form that is a string, or a long form that is a table or an array.
#[derive(Debug, Clone)]
pub enum Either<S, L> {
    /// The string.
    Short(S),
    /// The rest.
    Long(L),
}

impl<'de, S: Deserialize<'de>, L: Deserialize<'de>> Deserialize<'de> for Either<S, L> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms<S, L>(PhantomData<(S, L)>);
        impl<'de, S: Deserialize<'de>, L: Deserialize<'de>> Visitor<'de> for Forms<S, L> {
            type Value = Either<S, L>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, or a table or array")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                S::deserialize(text.into_deserializer()).map(Either::Short)
            }
            fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
                S::deserialize(text.into_deserializer()).map(Either::Short)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                L::deserialize(MapAccessDeserializer::new(map)).map(Either::Long)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
                L::deserialize(SeqAccessDeserializer::new(items)).map(Either::Long)
            }
        }
        deserializer.deserialize_any(Forms(PhantomData))
    }
}

impl<S: JsonSchema, L: JsonSchema> JsonSchema for Either<S, L> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("{}Or{}", S::schema_name(), L::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [generator.subschema_for::<S>(), generator.subschema_for::<L>()] })
    }
}
