-- The deployment applies this if FACADE_READ_DB_URL is set. Replicas compute their lag from the time of the
-- last heartbeat.
select cron.schedule('beat', '2 seconds', 'select private.beat()');
