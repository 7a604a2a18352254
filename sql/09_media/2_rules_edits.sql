-- What an admin may change of pictures by hand: 01_base/2_rules_edits.sql.

create trigger media_are_removed_with_their_files
  before update of discarded_at, removed_at, pending on public.media
  for each row when (
    (old.discarded_at, old.removed_at, old.pending)
    is distinct from (new.discarded_at, new.removed_at, new.pending)
  )
  execute function private.refuse_edit(
    'A picture is removed with its file: in the SQL editor, select '
    'private.discard_media(array[id]). A pending one is decided with the changes of its listing.');
