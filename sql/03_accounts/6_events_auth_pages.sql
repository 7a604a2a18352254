-- These triggers handle changes that an administrator makes under Authentication in Studio or with
-- Auth's admin API.

create function private.refuse_ban() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  -- Auth reveals its own ban before it compares the password, and leaves access tokens valid.
  if coalesce(current_setting('edits.by', true), '') = '' then
    raise exception using errcode = 'PT409', message =
      'Auth''s own ban is not used: set accounts.status to banned or suspended, or add a row to '
      'admin_acts with act ban_account. All access ends at once then, and the person reads why.';
  end if;
  return new;
end
$$;
comment on function private.refuse_ban is 'Refuses Auth''s ban, which leaves access tokens valid.';

create function private.confirm_new_user() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if new.email is not null and new.email_confirmed_at is null then
    new.email_confirmed_at := now();
  end if;
  if new.phone is not null and new.phone_confirmed_at is null then
    new.phone_confirmed_at := now();
  end if;
  return new;
end
$$;
comment on function private.confirm_new_user is
  'Marks the email and phone of users whom an admin adds as confirmed, because Auth sends no '
  'confirmations. The email stays unproven.';
