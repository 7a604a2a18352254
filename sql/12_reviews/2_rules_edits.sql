create trigger reviews_are_audited
  after update of hidden_at on public.reviews
  for each row when (old.hidden_at is distinct from new.hidden_at)
  execute function private.audit_change('review.hidden', 'review', 'hidden_at');

create function private.on_review_hidden() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.review_notices (author_account_id, subject_identity_id, hidden_at)
  values (new.author_account_id, new.subject_identity_id, new.hidden_at)
  on conflict on constraint review_notices_pkey do update set hidden_at = excluded.hidden_at;
  return null;
end
$$;
comment on function private.on_review_hidden is
  'Copies hidden_at of the review to review_notices (null if the review is shown again).';
create trigger reviews_are_known_when_hidden
  after update of hidden_at on public.reviews
  for each row when (old.hidden_at is distinct from new.hidden_at)
  execute function private.on_review_hidden();
