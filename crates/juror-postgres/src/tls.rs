//! Encrypted connections, with the TLS library that calls to models use.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, InvalidDnsNameError, ServerName};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client;

/// Makes encrypted connections.
#[derive(Clone)]
pub(crate) struct MakeTls(Arc<ClientConfig>);

impl MakeTls {
    /// Trusts the certificates in a file, or those that the system trusts.
    pub(crate) fn new(roots: Option<&std::path::Path>) -> Result<MakeTls, String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let builder = match roots {
            None => builder.with_platform_verifier().map_err(|error| error.to_string())?,
            Some(file) => builder.with_root_certificates(read_roots(file)?),
        };
        Ok(MakeTls(Arc::new(builder.with_no_client_auth())))
    }
}

fn read_roots(file: &std::path::Path) -> Result<RootCertStore, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| wrong(&error))? {
        let certificate = certificate.map_err(|error| wrong(&error))?;
        roots.add(certificate).map_err(|error| wrong(&error))?;
    }
    if roots.is_empty() {
        return Err(wrong(&"no certificate is found here"));
    }
    Ok(roots)
}

/// Encrypts one connection.
pub(crate) struct Connect {
    config: Arc<ClientConfig>,
    host: ServerName<'static>,
}

impl MakeTlsConnect<Socket> for MakeTls {
    type Stream = Encrypted;
    type TlsConnect = Connect;
    type Error = InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> Result<Connect, InvalidDnsNameError> {
        let host = ServerName::try_from(host.to_owned())?;
        Ok(Connect { config: self.0.clone(), host })
    }
}

impl TlsConnect<Socket> for Connect {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        let connector = TlsConnector::from(self.config);
        Box::pin(async move { Ok(Encrypted(connector.connect(self.host, socket).await?)) })
    }
}

/// An encrypted connection.
pub(crate) struct Encrypted(client::TlsStream<Socket>);

impl TlsStream for Encrypted {
    /// The server has proved who it is; passwords are not bound to the connection beyond that.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
