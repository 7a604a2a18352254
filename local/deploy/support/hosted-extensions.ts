/** Stand-ins for the parts of pg_cron, pg_net and Vault that the schedule of the jobs uses. */
export const hostedExtensions = `
  create schema cron;
  create table cron.job (
    jobid bigserial, jobname text unique, schedule text, command text, active boolean default true
  );
  create table cron.job_run_details (runid bigserial, command text, end_time timestamptz);
  create function cron.schedule(job_name text, schedule text, command text) returns bigint
    language sql as $$
      insert into cron.job (jobname, schedule, command) values (job_name, schedule, command)
      on conflict (jobname) do update set schedule = excluded.schedule, command = excluded.command
      returning jobid
    $$;
  create function cron.unschedule(job_id bigint) returns boolean
    language sql as $$ delete from cron.job where jobid = job_id returning true $$;
  create function cron.alter_job(
    job_id bigint, schedule text default null, command text default null,
    database text default null, username text default null, active boolean default null
  ) returns void
    language sql as $$
      update cron.job set active = coalesce(alter_job.active, job.active) where jobid = job_id
    $$;
  create schema net;
  create table net.http_request_queue (id bigserial, url text, headers jsonb, timeout integer);
  create function net.http_post(
    url text, body jsonb default '{}', params jsonb default '{}',
    headers jsonb default '{"Content-Type": "application/json"}',
    timeout_milliseconds integer default 5000
  ) returns bigint
    language sql security definer set search_path = net as $$
      insert into net.http_request_queue (url, headers, timeout)
      values (url, headers, timeout_milliseconds) returning id
    $$;
  create schema vault;
  create table vault.decrypted_secrets (
    id uuid default gen_random_uuid(), name text unique, decrypted_secret text
  );
  create function vault.create_secret(new_secret text, new_name text) returns uuid
    language sql as $$
      insert into vault.decrypted_secrets (name, decrypted_secret) values (new_name, new_secret)
      returning id
    $$;
  create function vault.update_secret(secret_id uuid, new_secret text) returns void
    language sql as $$
      update vault.decrypted_secrets set decrypted_secret = new_secret where id = secret_id
    $$;`
