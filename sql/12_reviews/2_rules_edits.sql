create trigger reviews_are_audited
  after update of hidden_at on public.reviews
  for each row when (old.hidden_at is distinct from new.hidden_at)
  execute function private.audit_change('review.hidden', 'review', 'hidden_at');
