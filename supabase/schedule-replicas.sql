-- What a hosted project with read replicas does besides schedule.sql: deploy applies it where
-- FACADE_READ_DB_URL is set. A replica shows by this how far it is behind.
select cron.schedule('beat', '2 seconds', 'select private.beat()');
