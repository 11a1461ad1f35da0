-- The pgndex database, version 7: what is added need not be looked for in levels that stay as they are.

-- The keys that many rows of the level have, and how many: src/store/frequent_keys.rs tells the bytes. NULL: nobody counted them.
ALTER TABLE occurrence_level ADD COLUMN frequent_keys BLOB;
