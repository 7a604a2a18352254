-- What an admin may change of reviews by hand, and that hiding one is recorded.

create trigger reviews_follow_their_author
  before update of author_active, author_account_id, author_identity_id, subject_identity_id
  on public.reviews
  for each row when (
    (old.author_active, old.author_account_id, old.author_identity_id, old.subject_identity_id)
    is distinct from
    (new.author_active, new.author_account_id, new.author_identity_id, new.subject_identity_id)
  )
  execute function private.refuse_edit(
    'To take a review away set hidden_at; whether its author counts follows from identities.status '
    'and accounts.status.');

create trigger reviews_are_audited
  after update of hidden_at on public.reviews
  for each row when (old.hidden_at is distinct from new.hidden_at)
  execute function private.audit_change('review.hidden', 'review', 'hidden_at');
