//! The rights that a lab needs: root's, or those of a user namespace of our own.

/// Whose rights this process has over the namespaces it makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// Root of the machine, or its capabilities.
    Root,
    /// Root of a user namespace: what reaches beyond a lab's own namespaces is missing.
    UserNamespace,
}

impl Rights {
    /// Takes the rights that a lab needs. Must be called while the process has one thread.
    ///
    /// # Errors
    /// When this process has none and the host forbids user namespaces; the error names the setting.
    pub fn acquire() -> Result<Self, sys::Error> {
        if sys::userns::has_net_admin() {
            return Ok(if sys::userns::is_nested() { Self::UserNamespace } else { Self::Root });
        }
        sys::userns::enter_as_root()?;
        Ok(Self::UserNamespace)
    }
}
