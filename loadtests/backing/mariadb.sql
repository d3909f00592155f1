-- What the workload db asks for, and a user who is not the administrator.
CREATE DATABASE lab;
CREATE USER lab@localhost;
GRANT ALL ON lab.* TO lab@localhost;
USE lab;
CREATE TABLE reply (id integer PRIMARY KEY, body text NOT NULL);
INSERT INTO reply VALUES (1, 'One row of a table');
