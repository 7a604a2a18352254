-- The deployment applies this file, and stores project_url and jobs_key in Vault in the same transaction.

do $$
begin
  if to_regnamespace('cron') is null then
    create extension if not exists pg_cron with schema pg_catalog;
  end if;
  if to_regnamespace('net') is null then
    create extension if not exists pg_net with schema extensions;
  end if;
end
$$;

select cron.schedule('jobs', '* * * * *', $$
  select net.http_post(
    url := (select decrypted_secret from vault.decrypted_secrets where name = 'project_url')
      || '/functions/v1/jobs',
    headers := jsonb_build_object(
      'apikey', (select decrypted_secret from vault.decrypted_secrets where name = 'jobs_key')),
    timeout_milliseconds := 30000
  )
$$);

-- These jobs run more often, so that pushes and notifications to many accounts are sent within seconds.
select cron.schedule('jobs often', '5 seconds', $$
  select net.http_post(
    url := (select decrypted_secret from vault.decrypted_secrets where name = 'project_url')
      || '/functions/v1/jobs/often',
    headers := jsonb_build_object(
      'apikey', (select decrypted_secret from vault.decrypted_secrets where name = 'jobs_key')),
    timeout_milliseconds := 30000
  )
  where private.has_pushes() or private.has_notification_events()
$$);

-- pg_cron never deletes the records of its runs.
select cron.schedule('forget old runs', '17 * * * *', $$
  delete from cron.job_run_details
  where end_time < now() - interval '7 days'
    or command = 'select private.beat()' and end_time < now() - interval '1 hour'
$$);
