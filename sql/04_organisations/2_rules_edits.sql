create trigger organisations_show_their_name
  after update of name_ar on public.organisations
  for each row when (new.name_ar <> old.name_ar)
  execute function private.sync_display_name();
-- Activating an identity also verifies its page, so an admin cannot verify the page of an inactive
-- identity.
create trigger organisations_are_verified_by_their_identity
  before update of verified on public.organisations
  for each row when (new.verified and not old.verified and not new.active)
  execute function private.refuse_edit(
    'To verify a company or office, set identities.status to active: its page follows.');
