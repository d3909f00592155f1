-- What the workload db asks for.
CREATE TABLE reply (id integer PRIMARY KEY, body text NOT NULL);
INSERT INTO reply VALUES (1, 'One row of a table');
VACUUM ANALYZE reply;
